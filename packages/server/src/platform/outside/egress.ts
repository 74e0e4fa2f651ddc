// Guards every call to an address that a user gave: the call may reach the internet, but nothing that only this server can
// reach. OWASP calls the attack SSRF. The guard checks an address when a caller saves it, for an early and clear answer, and
// again when it dials, since a name may resolve to another address by then. The socket connects to the address of that check.
import { isIP } from 'node:net'
import { addressFilter } from '../base/public-addresses.ts'
import { connectTimeoutMs, type Dispatchers, openDispatchers } from './dispatchers.ts'
import { ForwardProxy, type ProxySettings } from './proxy.ts'
import { type Address, type Lookup, openResolver, ResolverUnavailable } from './resolver.ts'

/**
 * An address that the server must not call. The message tells the API's caller why. It names the host as given, never the
 * address that the host resolves to: callers could read the names of a private network that way.
 */
export class UnsafeUrl extends Error {}

/** The host has no address. */
export class UnresolvableUrl extends Error {}

/**
 * Its dispatchers check each address when they dial, and fail with the same errors as `check`. A kept-alive socket was checked when
 * it was dialled and stays with that address. No dispatcher follows redirects, and its user must not follow one unchecked.
 * A dial takes at most 10 s, its look-up 5 s of them; until the dial ends, undici ignores an abort signal.
 */
export interface Egress extends Dispatchers {
	/**
	 * Checks a URL that is about to be saved. Throws UnsafeUrl unless it is http or https, has no user and password, and every
	 * address of its host may be called; UnresolvableUrl when the host has no address; ResolverUnavailable when the look-up takes
	 * over 5 s, or the organization has too many under way.
	 */
	check(url: string, organizationId: string): Promise<void>
}

export interface EgressOptions {
	/** EGRESS_ALLOW_CIDRS: ranges that may be called although they are not public. */
	readonly allowCidrs: readonly string[]
	readonly lookup?: Lookup
	readonly proxy?: ProxySettings
}

export function openEgress({ allowCidrs, lookup = openResolver(), proxy }: EgressOptions): Egress {
	const isAllowed = addressFilter(allowCidrs)

	function requireAllowed(host: string, addresses: readonly Address[]): void {
		if (addresses.every(({ address }) => isAllowed(address))) return
		throw new UnsafeUrl(`The host ${host} is not on the public internet; for development, EGRESS_ALLOW_CIDRS opens ranges.`)
	}

	/**
	 * The addresses of a host. One address that the server must not call rejects the whole host, because an honest name has no
	 * reason to have it. There is no list of names such as localhost, *.internal or *.local: lists have gaps, the resolver decides
	 * what a name means, and a name does harm only through its address. For the same reason search domains and trailing dots
	 * need no special care.
	 */
	async function addressesOf(host: string, tenant?: string): Promise<readonly Address[]> {
		const family = isIP(host)
		const addresses =
			family === 0 ? await resolve(host, lookup, tenant) : [{ address: host, family: family === 6 ? 6 : 4 } as const]
		requireAllowed(host, addresses)
		return addresses
	}

	return {
		...openDispatchers(addressesOf, proxy?.HTTPS_PROXY ? new ForwardProxy(proxy, connectTimeoutMs) : undefined),
		async check(url, organizationId) {
			await addressesOf(hostOf(url), organizationId)
		},
	}
}

/** The host of a URL as the socket gets it: numbers in any notation become an address, and IPv6 loses its brackets. */
function hostOf(text: string): string {
	const url = URL.parse(text)
	if (!url) throw new UnsafeUrl('The URL cannot be read.')
	if (!['http:', 'https:'].includes(url.protocol)) throw new UnsafeUrl('The URL must begin with http:// or https://.')
	if (url.username || url.password) throw new UnsafeUrl('The URL must not contain a user or a password.')
	return url.hostname.replace(/^\[|\]$/g, '')
}

async function resolve(host: string, lookup: Lookup, tenant: string | undefined): Promise<readonly Address[]> {
	try {
		const addresses = await lookup(host, tenant)
		if (addresses.length === 0) throw new Error('no addresses')
		return addresses
	} catch (cause) {
		if (cause instanceof ResolverUnavailable) throw cause
		throw new UnresolvableUrl(`The host ${host} has no address that could be found.`, { cause })
	}
}
