import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HeldBack, openDispatchers, Unreached } from './dispatchers.ts'
import type { Address } from './resolver.ts'

/** Where each connection came in. */
let reached: (string | undefined)[] = []
const server = createServer((_, res) => res.writeHead(204).end()).on('connection', (socket) => reached.push(socket.localAddress))
let port: number
beforeAll(async () => {
	server.listen(0, '::')
	await once(server, 'listening')
	port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())

const four = (address: string): Address => ({ address, family: 4 })
const open = (...addresses: Address[]) => openDispatchers(async () => addresses)
const origin = (host = 'receiver.example') => `http://${host}:${port}`
const only = (...networks: string[]) => ({ host: 'receiver.example', networks })

describe('the shared dispatcher', () => {
	it('dials the networks that it was given, whatever the name leads to, and says so when there is none', async () => {
		reached = []
		const dispatchers = open(four('127.0.0.2'), four('127.0.0.3'))
		const send = async (...networks: string[]) => {
			const { request } = await import('undici')
			const dispatcher = await dispatchers.dispatcher(only(...networks))
			const { statusCode, body } = await request(origin(), { dispatcher, reset: true })
			await body.dump()
			return statusCode
		}
		expect(await send('127.0.0.3/32')).toBe(204)
		expect(reached).toEqual(['::ffff:127.0.0.3'])
		await expect(send('127.0.0.4/32')).rejects.toThrow(HeldBack)
		expect(reached).toHaveLength(1)
		await dispatchers.close()
	})

	it('tells networks that took no connection, while others were left out, from a name that leads to none of them', async () => {
		const { request } = await import('undici')
		const failure = async (network: string, addresses: Address[]) => {
			const dispatchers = open(...addresses)
			const dispatcher = await dispatchers.dispatcher(only(network))
			const error = await request('http://receiver.example:9/', { dispatcher }).catch((thrown) => thrown)
			await dispatchers.close()
			return error
		}
		const [two, three] = [four('127.0.0.2'), four('127.0.0.3')]
		expect(await failure('127.0.0.2/32', [two, three])).toBeInstanceOf(Unreached)
		expect(await failure('127.0.0.2/32', [two])).not.toBeInstanceOf(HeldBack)
		expect(await failure('127.0.0.4/32', [two, three])).toBeInstanceOf(HeldBack)
		expect(await failure('127.0.0.4/32', [two, three])).not.toBeInstanceOf(Unreached)
	})
})

describe('a probe', () => {
	const probe = async (addresses: Address[], host?: string) => {
		const { request } = await import('undici')
		const dispatchers = open(...addresses)
		let asked: readonly string[] = []
		const admit = async (networks: readonly string[]) => {
			asked = networks
			return networks
		}
		const one = await dispatchers.probe(origin(host), admit)
		const { body } = await request(origin(host), { dispatcher: one.dispatcher })
		await body.dump()
		one.close()
		return { asked, network: one.network() }
	}

	it('asks for each IPv4 address, and for each IPv6 network of 64 bits once', async () => {
		const loopback = '0:0:0:0::/64'
		const addresses = [four('127.0.0.2'), ...['::1', '::2'].map((address) => ({ address, family: 6 as const }))]
		expect(await probe(addresses)).toEqual({ asked: ['127.0.0.2/32', loopback], network: '127.0.0.2/32' })
		expect(await probe([{ address: '::1', family: 6 }], '[::1]')).toEqual({ asked: [loopback], network: loopback })
	})

	it('has a socket that no other attempt uses', async () => {
		reached = []
		await probe([four('127.0.0.2')])
		await probe([four('127.0.0.2')])
		expect(reached).toHaveLength(2)
	})
})
