"""Reports that are frozen by themselves at dates, and mailed or left in their pages."""
