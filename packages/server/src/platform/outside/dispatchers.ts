// The sockets of webhooks. Attempts to a host that is known share a pool of sockets, which reach only the networks where the host is
// known; any other attempt is a probe, with a socket of its own and to networks that are asked for first.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import { networkOf } from '../base/network.ts'
import type { ForwardProxy } from './proxy.ts'
import type { Address, Lookup } from './resolver.ts'

/** None of the host's networks may be dialled now. Nothing was sent. */
export class HeldBack extends Error {}

/** None of the host's networks that may be dialled took the connection, and it has others. Nothing was sent. */
export class Unreached extends HeldBack {}

/** Returns those of a host's networks (`192.0.2.1/32`, `2001:db8:0:0::/64`) that may be dialled. */
export type Admit = (networks: readonly string[]) => Promise<readonly string[]>

export interface HostNetworks {
	/** As in the URL. */
	readonly host: string
	readonly networks: readonly string[]
}

/** The dispatcher of one attempt. */
export interface Probe {
	readonly dispatcher: Dispatcher
	/** The network of its socket, once there is one. */
	network(): string | undefined
	close(): void
}

export interface Dispatchers {
	/** With `only`, dials of the host reach these networks alone from now on, and fail with Unreached when others are left. */
	dispatcher(only?: HostNetworks): Promise<Dispatcher>
	/** Dials the same way, but with a socket that nothing else uses, to the networks that `admit` returns. */
	probe(origin: string, admit: Admit): Promise<Probe>
	/** Aborts all calls under way. */
	close(): Promise<void>
}

interface Dial {
	/** Whether it left out addresses of the host. */
	leavesOut: boolean
}

/** Hosts whose limits are remembered. Each is set anew before it is used. */
const maxLimits = 10_000

export const connectTimeoutMs = 10_000
/** How long a dial tries one of a host's addresses before the next. A distant host takes longer than Node's default of 250 ms. */
const attemptTimeoutMs = 2_000

/** Sockets go to what `addressesOf` returns, those for https through the proxy. */
export function openDispatchers(addressesOf: Lookup, proxy?: ForwardProxy): Dispatchers {
	const limits = new Map<string, readonly string[]>()
	/** The dial that looks up a host: a look-up is told no more than the name. */
	const dials = new AsyncLocalStorage<Dial>()
	const probes = new Set<Probe>()
	let agent: Promise<Dispatcher> | undefined

	/** Those addresses of a host whose network `admit` returns. */
	async function admittedOf(host: string, admit: Admit): Promise<readonly Address[]> {
		const current = dials.getStore()
		const addresses = await addressesOf(host)
		const admitted = await admit([...new Set(addresses.map(({ address }) => rangeOf(address)))])
		const open = addresses.filter(({ address }) => admitted.includes(rangeOf(address)))
		if (open.length === 0) throw new HeldBack(`No network of ${host} may be called now.`)
		if (current) current.leavesOut = open.length < addresses.length
		return open
	}

	/** A pool for each origin. */
	async function openAgent(): Promise<Dispatcher> {
		const { Agent } = await import('undici')
		const dial = await openConnector((host) => {
			const networks = limits.get(host)
			return networks ? admittedOf(host, async () => networks) : addressesOf(host)
		}, proxy)
		const connect: buildConnector.connector = (target, callback) => {
			const current: Dial = { leavesOut: false }
			dials.run(current, dial, target, (...[error, socket]) => {
				if (!error) callback(null, socket)
				else callback(current.leavesOut ? new Unreached(error.message) : error, null)
			})
		}
		return new Agent({ allowH2: false, connect })
	}

	return {
		dispatcher(only) {
			if (only) {
				const host = only.host.replace(/^\[|\]$/g, '')
				const [oldest] = limits.keys()
				if (oldest !== undefined && limits.size >= maxLimits && !limits.has(host)) limits.delete(oldest)
				// The one that was used last stands last.
				limits.delete(host)
				limits.set(host, only.networks)
			}
			agent ??= openAgent()
			return agent
		},
		async probe(origin, admit) {
			const { Client } = await import('undici')
			const dial = await openConnector((host) => admittedOf(host, admit), proxy)
			let network: string | undefined
			const connect: buildConnector.connector = (target, callback) =>
				dial(target, (...[error, socket]) => {
					if (error) return callback(error, null)
					network = rangeOf(tunnels.get(socket) ?? socket.remoteAddress ?? '')
					callback(null, socket)
				})
			const client = new Client(origin, { allowH2: false, connect })
			const probe: Probe = {
				dispatcher: client,
				network: () => network,
				close() {
					probes.delete(probe)
					client.destroy().catch(() => {})
				},
			}
			probes.add(probe)
			return probe
		},
		async close() {
			for (const probe of probes) probe.close()
			await (await agent)?.destroy()
			await proxy?.close()
		},
	}
}

/** Where the sockets lead that go through the proxy. */
const tunnels = new WeakMap<Socket, string>()

/** The network of an address. No host has a `/`, which tells them apart. */
const rangeOf = (address: string): string => networkOf(address)?.replace(/^[\d.]+$/, '$&/32') ?? address

/** Connects sockets to the addresses of `addressesOf`. Loads undici, a sixth of the server's start. */
async function openConnector(addressesOf: Lookup, proxy?: ForwardProxy): Promise<buildConnector.connector> {
	const { buildConnector } = await import('undici')
	const lookup: LookupFunction = (host, { all }, callback) => {
		addressesOf(host).then(
			(addresses) => {
				const [first] = addresses
				if (all) callback(null, [...addresses])
				else callback(null, first?.address ?? '', first?.family)
			},
			(error: Error) => callback(error, ''),
		)
	}
	// HTTP/1.1, which every receiver speaks. Over HTTP/2 all calls to an origin would share one socket, and fail with it.
	const options = { lookup, timeout: connectTimeoutMs, autoSelectFamilyAttemptTimeout: attemptTimeoutMs, allowH2: false }
	const connect = buildConnector(options)
	const dial: buildConnector.connector = (target, callback) =>
		connect(target, (...[error, socket]) => {
			if (error) return callback(error, null)
			skipContinue(socket)
			callback(null, socket)
		})
	const dialThrough = async (proxy: ForwardProxy, target: buildConnector.Options, callback: buildConnector.Callback) => {
		const addresses = await addressesOf(target.hostname)
		const address = addresses.find(({ family }) => family === 4) ?? (addresses[0] as Address)
		const httpSocket = await proxy.tunnel(address, Number(target.port || 443))
		dial({ ...target, httpSocket }, (...[error, socket]) => {
			if (error) return callback(error, null)
			tunnels.set(socket, address.address)
			callback(null, socket)
		})
	}
	return (target, callback) => {
		if (proxy && target.protocol === 'https:' && proxy.isFor(target.hostname, Number(target.port || 443)))
			dialThrough(proxy, target, callback).catch((error) => callback(error, null))
		// A socket calls `lookup` for names only, so an address is checked here.
		else if (isIP(target.hostname) === 0) dial(target, callback)
		else
			addressesOf(target.hostname).then(
				() => dial(target, callback),
				(error: Error) => callback(error, null),
			)
	}
}

/**
 * undici closes a connection that answers `100 Continue`, which some receivers send unasked, and skips a 102, which says as little. So
 * it is given the one for the other. Each answer begins a chunk, since requests are not pipelined.
 */
function skipContinue(socket: Socket): void {
	const read = socket.read.bind(socket)
	socket.read = (size) => {
		const chunk: Buffer | null = read(size)
		for (let start = 0; chunk && isContinue(chunk, start); start = endOfHead(chunk, start))
			chunk.write('102', start + 9, 'latin1')
		return chunk
	}
}

const isContinue = (chunk: Buffer, start: number) => /^HTTP\/1\.[01] 100[ \r]$/.test(chunk.toString('latin1', start, start + 13))

const endOfHead = (chunk: Buffer, start: number): number => {
	const end = chunk.indexOf('\r\n\r\n', start)
	return end < 0 ? chunk.length : end + 4
}
