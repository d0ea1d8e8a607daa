"""Adapters to frameworks. Each module needs the framework that it is named for."""
