// The network by which the server counts a client that has no key, and a receiver that has not answered yet.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The IPv4 address, or the first 64 bits of the IPv6 address, of which one subscriber has all (RFC 6177). An IPv4 address in an
 * IPv6 one (`::ffff:192.0.2.1`) is itself. Some proxies write a port behind the address. Undefined for text that is no address.
 */
export function networkOf(text: string): string | undefined {
	// Most are: node:net takes nothing but four plain numbers.
	if (isIP(text) === 4) return text
	const address = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
	// ipaddr.js takes more notations than there are addresses: it reads 010.0.0.1 as 8.0.0.1.
	if (isIP(address) === 0) return undefined
	const parsed = ipaddr.process(address)
	if (parsed instanceof ipaddr.IPv4) return parsed.toString()
	const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
	return `${network.join(':')}::/64`
}

/** The networks around one that `networkOf` named, each wider than the one before: /24 and /16 of IPv4, /48, /32 and /16 of IPv6. */
export function widerNetworks(network: string): string[] {
	const [mark, bits, sizes] = network.includes('.') ? (['.', 8, [24, 16]] as const) : ([':', 16, [48, 32, 16]] as const)
	const parts = network.split(mark)
	return sizes.map((size) => `${parts.slice(0, size / bits).join(mark)}/${size}`)
}
