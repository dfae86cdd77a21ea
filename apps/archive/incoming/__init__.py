"""Archives that come in: sent, looked through, chosen for, and made campaigns of, or refused with the reason."""
