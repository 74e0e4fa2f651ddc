// The way out through an HTTP proxy, for machines that have no other. The guard judges addresses before: the proxy gets the address that
// it let through, and not the name, which might lead elsewhere there.
import type { Socket } from 'node:net'
import type { Pool } from 'undici'
import { isException } from '../base/network.ts'
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
