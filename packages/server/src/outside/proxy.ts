// The way out through an HTTP proxy, for machines that have no other. The guard judges addresses before: the proxy gets the address that
// it let through, and not the name, which might lead elsewhere there.
import { BlockList, isIP, type Socket } from 'node:net'
import type { Pool } from 'undici'
import type { Address } from './resolver.ts'

export interface ProxySettings {
	/** `http://user:password@host:port`; empty: calls go out directly. */
	readonly HTTPS_PROXY: string
	/** Hosts that are called directly, with commas between them: a name with all below it, an address, a range, or `*`; a port may follow. */
	readonly NO_PROXY: string
}

/** There is no tunnel, so that nothing was sent. The message is for the API's caller. */
export class ProxyFailed extends Error {}

export class ForwardProxy {
	readonly #url: URL
	readonly #exceptions: string
	readonly #timeoutMs: number
	#pool: Promise<Pool> | undefined

	constructor({ HTTPS_PROXY, NO_PROXY }: ProxySettings, timeoutMs: number) {
		this.#url = new URL(HTTPS_PROXY)
		this.#exceptions = NO_PROXY
		this.#timeoutMs = timeoutMs
	}

	isFor(host: string, port: number): boolean {
		return !isException(this.#exceptions, host, port)
	}

	/** A socket to the address. */
	async tunnel({ address, family }: Address, port: number): Promise<Socket> {
		const { username, password, origin } = this.#url
		const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
		const path = `${family === 6 ? `[${address}]` : address}:${port}`
		const headers = { host: path, ...(username && { 'proxy-authorization': `Basic ${login}` }) }
		this.#pool ??= import('undici').then(
			({ Pool }) => new Pool(origin, { allowH2: false, connect: { timeout: this.#timeoutMs } }),
		)
		const pool = await this.#pool
		const answer = await pool.connect({ path, headers, signal: AbortSignal.timeout(this.#timeoutMs) }).catch((cause) => {
			throw new ProxyFailed("The server's proxy (HTTPS_PROXY) cannot be reached.", { cause })
		})
		const socket = answer.socket as Socket
		if (answer.statusCode === 200) return socket
		socket.on('error', () => {}).destroy()
		throw new ProxyFailed(`The server's proxy (HTTPS_PROXY) answered ${answer.statusCode}.`)
	}

	async close(): Promise<void> {
		await (await this.#pool)?.destroy()
	}
}

/** Whether `NO_PROXY` names the host: as curl reads it, and with ports. */
export const isException = (NO_PROXY: string, host: string, port: number): boolean =>
	NO_PROXY.toLowerCase()
		.split(/[\s,]+/)
		.filter(Boolean)
		.some((exception) => isSame(exception, host.toLowerCase(), port))

function isSame(exception: string, host: string, port: number): boolean {
	if (exception === '*') return true
	// An IPv6 address without brackets has no port.
	const [, named = exception, only = port] = /^([^:]+|\[.*\]):(\d+)$/.exec(exception) ?? []
	if (Number(only) !== port) return false
	if (isIP(host) > 0) return isWithin(named, host)
	const name = named.replace(/^\*?\./, '')
	return host === name || host.endsWith(`.${name}`)
}

function isWithin(exception: string, address: string): boolean {
	const [network = '', bits] = exception.replace(/[[\]]/g, '').split('/')
	const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
	if (isIP(network) === 0 || isIP(network) !== isIP(address)) return false
	const list = new BlockList()
	if (bits === undefined) list.addAddress(network, family)
	else if (Number(bits) >= 0 && Number(bits) <= (family === 'ipv6' ? 128 : 32)) list.addSubnet(network, Number(bits), family)
	return list.check(address, family)
}
