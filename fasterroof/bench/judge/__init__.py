"""What differs between rows, and whether it is more than noise. No text is laid out here."""
