"""What an audit leaves behind: certificates, their verification, reports, plots."""
