// The guard of every call to an address that a user gave: it may reach the internet, and nothing that only this server can
// reach. An address is judged when it is saved, for an early and clear answer, and again when it is dialled, since a name
// may mean another address by then: the socket connects to what was judged then. OWASP calls the attack SSRF.
import { lookup as dnsLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { addressFilter } from '../base/public-addresses.ts'

/**
 * An address that the server must not call. The message says why, for the API's caller: it names the host as it was given,
 * and never what that resolves to, which would let anyone read the names of a private network.
 */
export class UnsafeUrl extends Error {}

/** The host has no address. */
export class UnresolvableUrl extends Error {}

interface Address {
	readonly address: string
	readonly family: 4 | 6
}

/** All addresses of a name; rejects when it has none. */
export type Lookup = (hostname: string) => Promise<readonly Address[]>

export interface Egress {
	/**
	 * Checks a URL as it is saved. Throws UnsafeUrl unless it is http or https, without user and password, and every address
	 * of its host may be called; UnresolvableUrl when the host has none, or the look-up takes over 5 s.
	 */
	check(url: string): Promise<void>
	/**
	 * Dials only what was judged at that moment, and otherwise fails with UnsafeUrl or
	 * UnresolvableUrl. A socket that is kept alive was judged when it was dialled and cannot go elsewhere since. Redirects
	 * are not followed, nor must a caller follow one unchecked. A dial takes 10 s at most, its look-up 5 s of them; undici
	 * heeds a signal to abort only after it.
	 */
	dispatcher(): Promise<Dispatcher>
	/** Breaks off what is under way. */
	close(): Promise<void>
}

export interface EgressOptions {
	/** EGRESS_ALLOW_CIDRS: ranges that may be called although they are not public. */
	readonly allowCidrs: readonly string[]
	readonly lookup?: Lookup
}

const lookupTimeoutMs = 5_000
const connectTimeoutMs = 10_000
/** Of a host with several addresses, how long one is tried before the next. Node's 250 ms is less than a far host takes. */
const attemptTimeoutMs = 2_000

/** The system's, which knows /etc/hosts as the sockets of other programs do. */
const systemLookup: Lookup = async (hostname) =>
	(await dnsLookup(hostname, { all: true, order: 'verbatim' })).map(({ address, family }) => ({
		address,
		family: family === 6 ? 6 : 4,
	}))

export function openEgress({ allowCidrs, lookup = systemLookup }: EgressOptions): Egress {
	const isAllowed = addressFilter(allowCidrs)

	function judge(host: string, addresses: readonly Address[]): void {
		if (addresses.every(({ address }) => isAllowed(address))) return
		throw new UnsafeUrl(`The host ${host} is not on the public internet; for development, EGRESS_ALLOW_CIDRS opens ranges.`)
	}

	/**
	 * The addresses of a host, each of which may be called: one that may not refuses the host, as a sound name has no use
	 * for it. There is no list of names such as localhost, *.internal or *.local: what a name means is up to the resolver,
	 * lists have gaps, and a name does no harm but by its address. Search domains and dots at the end need no care either.
	 */
	async function addressesOf(host: string): Promise<readonly Address[]> {
		const family = isIP(host)
		const addresses = family === 0 ? await resolve(host, lookup) : [{ address: host, family: family === 6 ? 6 : 4 } as const]
		judge(host, addresses)
		return addresses
	}

	let agent: Promise<Dispatcher> | undefined
	return {
		async check(url) {
			await addressesOf(hostOf(url))
		},
		dispatcher() {
			agent ??= openAgent(addressesOf)
			return agent
		},
		async close() {
			await (await agent)?.destroy()
		},
	}
}

/** A pool for each origin, whose sockets go to what `addressesOf` says. undici is loaded here: a sixth of the server's start. */
async function openAgent(addressesOf: Lookup): Promise<Dispatcher> {
	const { Agent, buildConnector } = await import('undici')
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
	// HTTP/1.1, which every receiver speaks: over HTTP/2, the calls to an origin would share one socket and its fate.
	const options = { lookup, timeout: connectTimeoutMs, autoSelectFamilyAttemptTimeout: attemptTimeoutMs, allowH2: false }
	const dial = buildConnector(options)
	return new Agent({
		allowH2: false,
		connect(target, callback) {
			// A socket looks up names only: an address is judged here.
			if (isIP(target.hostname) === 0) dial(target, callback)
			else
				addressesOf(target.hostname).then(
					() => dial(target, callback),
					(error: Error) => callback(error, null),
				)
		},
	})
}

/** The host of a URL as the socket will get it: numbers in any notation become an address, and IPv6 loses its brackets. */
function hostOf(text: string): string {
	const url = URL.parse(text)
	if (!url) throw new UnsafeUrl('The URL cannot be read.')
	if (!['http:', 'https:'].includes(url.protocol)) throw new UnsafeUrl('The URL must begin with http:// or https://.')
	if (url.username || url.password) throw new UnsafeUrl('The URL must not contain a user or a password.')
	return url.hostname.replace(/^\[|\]$/g, '')
}

async function resolve(host: string, lookup: Lookup): Promise<readonly Address[]> {
	let timer: NodeJS.Timeout | undefined
	const tooLate = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`no answer in ${lookupTimeoutMs} ms`)), lookupTimeoutMs)
	})
	try {
		const addresses = await Promise.race([lookup(host), tooLate])
		if (addresses.length === 0) throw new Error('no addresses')
		return addresses
	} catch (cause) {
		throw new UnresolvableUrl(`The host ${host} has no address that could be found.`, { cause })
	} finally {
		clearTimeout(timer)
	}
}
