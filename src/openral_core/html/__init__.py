"""Parts of pages that are one HTML file each."""
