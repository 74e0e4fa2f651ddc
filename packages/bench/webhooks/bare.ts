// The yardstick of the deliveries: signs the same body and sends it by undici's `dispatch`, as Remit does (`request` costs more), with as
// many requests at once, and stores nothing.
// It prints its URL, as the servers do, and begins at the first request.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadUndici } from './undici.ts'

const { Agent } = loadUndici()
const [target = '', bodyFile = '', countText, concurrencyText] = process.argv.slice(2)
const body = readFileSync(bodyFile, 'utf8')
const key = createSecretKey(randomBytes(32))
const agent = new Agent()
const { origin, pathname: path } = new URL(target)
let left = Number(countText)

async function send(): Promise<void> {
	while (left-- > 0) {
		const id = `evt_${left}`
		const timestamp = String(Math.floor(Date.now() / 1000))
		const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
		const headers = {
			'content-type': 'application/json',
			'webhook-id': id,
			'webhook-timestamp': timestamp,
			'webhook-signature': `v1,${signature}`,
		}
		const status = await post(headers)
		if (status !== 204) throw new Error(`the sink answers ${status}`)
	}
}

const post = (headers: Readonly<Record<string, string>>) =>
	new Promise<number>((resolve, reject) => {
		let status = 0
		agent.dispatch(
			{ origin, path, method: 'POST', headers, body },
			{
				onRequestStart() {},
				onResponseStart(_, answered) {
					status = answered
				},
				onResponseData() {},
				onResponseEnd: () => resolve(status),
				onResponseError: (_, error) => reject(error),
			},
		)
	})

const server = createServer((_, res) => {
	res.end()
	for (let n = 0; n < Number(concurrencyText); n++) void send()
})
server.listen(0, '127.0.0.1', () => {
	console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
