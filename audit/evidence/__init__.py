"""Certificates of audits, their verification, reports and plots."""
