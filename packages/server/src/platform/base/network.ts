// The network by which the server counts a client that has no key, and a receiver that has not answered yet; and the hosts that NO_PROXY names.
import { BlockList, isIP } from 'node:net'
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
