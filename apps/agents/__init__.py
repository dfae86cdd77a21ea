"""Agents on the nodes: enrolment, heartbeat, facts, jobs handed out and taken back."""
