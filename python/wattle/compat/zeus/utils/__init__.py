"""What the monitors need."""
