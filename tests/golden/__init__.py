"""What users rely on, frozen: what commands print, what judges are asked, what stores hold. See `freeze`."""
