// Tells which addresses are public: anyone on the internet can call them, so a call from this server reaches nothing that is
// closed to others.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The only part of IPv6 that IANA has assigned to the internet. ipaddr.js calls the unassigned rest unicast too, including
 * the IPv4-compatible ::a.b.c.d.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** In a public range, but on Azure the host of a virtual machine answers there and gives out that machine's credentials. */
const azureHost = ipaddr.IPv4.parse('168.63.129.16')

/**
 * Returns a filter that passes public addresses and every address in `allowCidrs`. An IPv6 address that carries an IPv4 one
 * (mapped, NAT64, 6to4, Teredo) is never public and never in the range of the address that it carries. The filter cannot
 * recognise a network-specific NAT64 prefix (RFC 6052, 2.2): an operator who runs one must close it in the firewall.
 * @param allowCidrs such as `127.0.0.0/8` and `::1/128`; throws for an invalid range.
 */
export function addressFilter(allowCidrs: readonly string[]): (address: string) => boolean {
	const allowed = allowCidrs.map((cidr) => ipaddr.parseCIDR(cidr))
	return (text) => {
		// A socket takes the notations that isIP takes. ipaddr.js takes more, and reads 010.0.0.1 as 8.0.0.1.
		if (isIP(text) === 0) return false
		const address = ipaddr.parse(text)
		return isPublic(address) || ipaddr.subnetMatch(address, { allowed }, '') === 'allowed'
	}
}

/**
 * No address in IANA's registries of special-purpose addresses (RFC 6890) is public, even where the registry calls it globally
 * reachable.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
	if (address.range() !== 'unicast') return false
	if (address instanceof ipaddr.IPv4) return !address.match(azureHost, 32)
	// A zone (RFC 4007) names one of this machine's own networks.
	return address.zoneId === undefined && address.match(globalUnicast)
}

/** Parses a setting: ranges with commas between them, or an empty text for none. Throws an Error that says what it must be. */
export function parseCidrs(text: string): string[] {
	if (text.trim() === '') return []
	const cidrs = text.split(',').map((cidr) => cidr.trim())
	// ipaddr.js would read 10/8 as 0.0.0.10/8.
	const isCidr = (cidr: string) => isIP(cidr.split('/', 1)[0] as string) !== 0 && ipaddr.isValidCIDR(cidr)
	if (!cidrs.every(isCidr)) throw new Error('must be CIDR ranges with commas between them, such as 127.0.0.0/8,::1/128')
	return cidrs
}
