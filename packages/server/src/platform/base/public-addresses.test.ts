import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressFilter, parseCidrs } from './public-addresses.ts'

// The first and last address of each range in IANA's registries of special-purpose addresses (RFC 6890), of multicast (RFC
// 5771, RFC 4291), of the ranges that RFC 3879 and RFC 4291 deprecated, and of all IPv6 outside 2000::/3.
const special = [
	['0.0.0.0', '0.255.255.255'],
	['10.0.0.0', '10.255.255.255'],
	['100.64.0.0', '100.127.255.255'],
	['127.0.0.0', '127.255.255.255'],
	['168.63.129.16', '168.63.129.16'],
	['169.254.0.0', '169.254.255.255'],
	['172.16.0.0', '172.31.255.255'],
	['192.0.0.0', '192.0.0.255'],
	['192.0.2.0', '192.0.2.255'],
	['192.31.196.0', '192.31.196.255'],
	['192.52.193.0', '192.52.193.255'],
	['192.88.99.0', '192.88.99.255'],
	['192.168.0.0', '192.168.255.255'],
	['192.175.48.0', '192.175.48.255'],
	['198.18.0.0', '198.19.255.255'],
	['198.51.100.0', '198.51.100.255'],
	['203.0.113.0', '203.0.113.255'],
	['224.0.0.0', '255.255.255.255'],
	['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
	['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
	['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
	['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
	['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
	['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
	['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
	// Lie in the ranges above: IPv4-compatible, mapped, SIIT, NAT64 twice, discard, unique local, link-local, site-local.
	['::', '::ffff:ffff'],
	['::ffff:0:0', '::ffff:ffff:ffff'],
	['::ffff:0:0:0', '::ffff:0:ffff:ffff'],
	['64:ff9b::', '64:ff9b::ffff:ffff'],
	['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
	['100::', '100::ffff:ffff:ffff:ffff'],
	['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
	['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
	['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const

/** The neighbours of those ranges, and some well-known addresses. */
const open = `1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17
	169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0
	198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 1.1.1.1 8.8.8.8
	2000:: 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
	2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::
	3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2606:4700:4700::1111 2a00:1450:4001:81b::200e`.split(/\s+/)

/** The groups of an address as one number; the addresses above have no dots in IPv6. */
function numberOf(address: string): bigint {
	if (!address.includes(':')) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
	const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter(Boolean))
	const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
	return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}

const dotted = (number: bigint) => [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.')

const colons = (number: bigint) => (number.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':')

describe('an address', () => {
	it.each(special)('from %s to %s is not public', (first, last) => {
		const write = first.includes(':') ? colons : dotted
		const isAllowed = addressFilter([])
		for (const edge of [first, last]) expect(isAllowed(edge), edge).toBe(false)
		const inside = fc.bigInt({ min: numberOf(first), max: numberOf(last) }).map(write)
		fc.assert(fc.property(inside, (address) => !isAllowed(address)))
	})

	it.each(open)('%s is public', (address) => {
		expect(addressFilter([])(address)).toBe(true)
	})

	it('in an allowed range passes, and its neighbours do not', () => {
		const isAllowed = addressFilter(['127.0.0.0/8', '10.1.0.0/16', '::1/128', 'fd00::/8', '168.63.129.16/32'])
		for (const address of ['127.0.0.1', '127.255.255.255', '10.1.2.3', '::1', 'fd00:ec2::254', '168.63.129.16', '8.8.8.8'])
			expect(isAllowed(address), address).toBe(true)
		for (const address of ['10.2.0.0', '10.0.255.255', '192.168.0.1', '::', '::2', 'fc00::1', 'fe80::1', '0.0.0.0'])
			expect(isAllowed(address), address).toBe(false)
	})

	it('of IPv6 does not pass for the address of IPv4 that it carries', () => {
		const isAllowed = addressFilter(['0.0.0.0/0', '::1/128'])
		for (const address of ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::'])
			expect(isAllowed(address), address).toBe(false)
	})

	it('with a zone is not public, whatever it is', () => {
		for (const address of ['fe80::1%eth0', '2606:4700:4700::1111%lo', '2606:4700:4700::1111%1'])
			expect(addressFilter([])(address), address).toBe(false)
	})

	it.each(['', 'localhost', '8.8.8', '134744072', '010.8.8.8', '0x8.8.8.8', '8.8.8.8.', ' 8.8.8.8', '8.8.8.8/32', '[2606::1]'])(
		'is invalid when written as "%s", even with every range allowed',
		(text) => {
			expect(addressFilter(['0.0.0.0/0', '::/0'])(text)).toBe(false)
		},
	)
})

describe('EGRESS_ALLOW_CIDRS', () => {
	it('is a list of ranges', () => {
		expect(parseCidrs('127.0.0.0/8, ::1/128 ,fd00::/8')).toEqual(['127.0.0.0/8', '::1/128', 'fd00::/8'])
		expect(parseCidrs('10.1.2.3/32')).toEqual(['10.1.2.3/32'])
	})

	it('opens nothing when it is empty', () => {
		for (const text of ['', ' ']) expect(parseCidrs(text)).toEqual([])
	})

	it.each([
		'127.0.0.1',
		'localhost',
		'10/8',
		'10.0.0.0/33',
		'::/129',
		'010.0.0.0/8',
		'10.0.0.0/',
		'10.0.0.0/-1',
		'127.0.0.0/8,',
		',',
		'/8',
	])('may not be "%s"', (text) => {
		expect(() => parseCidrs(text)).toThrow(/^must be CIDR ranges/)
	})
})
