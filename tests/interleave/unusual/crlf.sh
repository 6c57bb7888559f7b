# CRLF line endings after a byte order mark.
printf '\357\273\277{"cell":"crlf","us":[1000,1001,999,1000,1000,1002,998,1000]}\r\n'
printf '{"cell":"more","us":[500,501,500,499,500,500,500,500]}\r\n'
