// Which addresses are public: those that anyone on the internet could call, so that a call from this server reaches
// nothing that it would not reach from anywhere else.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Of IPv6, IANA has given out 2000::/3 alone for the internet; ipaddr.js calls the unassigned rest unicast too, and with
 * it the IPv4-compatible ::a.b.c.d.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Public by its number, but on Azure the host of every virtual machine answers there, with that machine's credentials. */
const azureHost = ipaddr.IPv4.parse('168.63.129.16')

/**
 * Judges addresses: public ones pass, and those in the ranges given, whatever they are. An IPv6 address that carries an
 * IPv4 one (mapped, NAT64, 6to4, Teredo) is never public and never in the range of the address that it carries. A prefix
 * of a network's own for NAT64 (RFC 6052, 2.2) looks like any other: who runs one must close it in the firewall.
 * @param allowCidrs such as `127.0.0.0/8` and `::1/128`; throws for what is none.
 */
export function addressFilter(allowCidrs: readonly string[]): (address: string) => boolean {
	const allowed = allowCidrs.map((cidr) => ipaddr.parseCIDR(cidr))
	return (text) => {
		// A socket takes what isIP takes. ipaddr.js takes more, and reads 010.0.0.1 as 8.0.0.1.
		if (isIP(text) === 0) return false
		const address = ipaddr.parse(text)
		return isPublic(address) || ipaddr.subnetMatch(address, { allowed }, '') === 'allowed'
	}
}

/**
 * The ranges are those of IANA's registries of special-purpose addresses (RFC 6890): an address in any of them is not
 * public, even where the registry says that it is reachable from everywhere.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
	if (address.range() !== 'unicast') return false
	if (address instanceof ipaddr.IPv4) return !address.match(azureHost, 32)
	// A zone (RFC 4007) names one of this machine's own networks.
	return address.zoneId === undefined && address.match(globalUnicast)
}

/** For config.ts: ranges with commas between them, none in an empty text. Throws an Error that says what it must be. */
export function parseCidrs(text: string): string[] {
	if (text.trim() === '') return []
	const cidrs = text.split(',').map((cidr) => cidr.trim())
	// ipaddr.js would read 10/8 as 0.0.0.10/8: a range that nobody meant.
	const isCidr = (cidr: string) => isIP(cidr.split('/', 1)[0] as string) !== 0 && ipaddr.isValidCIDR(cidr)
	if (!cidrs.every(isCidr)) throw new Error('must be CIDR ranges with commas between them, such as 127.0.0.0/8,::1/128')
	return cidrs
}
