"""The program that sets reports: a folder of data and figures in, a PDF out; here alone typst is imported."""
