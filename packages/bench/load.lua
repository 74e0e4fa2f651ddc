-- The script of wrk: sends the requests of a file with one path a line, again and again, and prints the results as JSON.
-- Arguments: the file, the method, a file with the keys, which take turns, a file with the body (may be empty).
local requests = {}
local at = 0

function init(args)
	local body = io.open(args[4], "rb"):read("*a")
	if body == "" then
		body = nil
	end
	for path in io.lines(args[1]) do
		for key in io.lines(args[3]) do
			local headers = { Authorization = "Bearer " .. key, ["User-Agent"] = "Mozilla/5.0", ["Content-Type"] = body and "application/json" }
			requests[#requests + 1] = wrk.format(args[2], path, headers, body)
		end
	end
end

function request()
	at = at % #requests + 1
	return requests[at]
end

function done(summary, latency)
	local errors = summary.errors
	io.write(string.format(
		'\n{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"failed":%d}\n',
		summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
		errors.connect + errors.read + errors.write + errors.status + errors.timeout
	))
end
