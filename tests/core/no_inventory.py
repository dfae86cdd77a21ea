"""Addresses without any page of the inventory."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
