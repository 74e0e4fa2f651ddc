// A body whose connection was cut before anybody came to read it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { readBody } from './body.ts'

it.each(['Content-Length: 100', 'Transfer-Encoding: chunked'])('is no absent one, with %s', async (length) => {
	const outcome = Promise.withResolvers<unknown>()
	const server = createServer(async (req, res) => {
		const closed = new Promise((resolve) => req.on('close', resolve))
		client.destroy()
		await closed
		const context = { operation: { id: 'invoices.send', body: 'optional' }, bodyBytes: 0 }
		try {
			await readBody(Object.assign(req, { context }) as never, res as never, outcome.resolve)
		} catch (error) {
			outcome.resolve(error)
		}
	}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
	client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`)
	expect(await outcome.promise).toMatchObject({ code: 'invalid_request', message: 'The body did not arrive whole.' })
	server.close()
})
