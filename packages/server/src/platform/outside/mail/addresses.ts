// What an e-mail address is, and when two are the same.
import { domainToASCII, domainToUnicode } from 'node:url'

/** RFC 5321, 4.5.3.1.3 leaves 254 characters. Rejects what RFC 5322 would quote, and what could begin a second address. */
export const isAddress = (text: string) =>
	text.length <= 254 && /^[^\s\p{C}@,;:<>()[\]\\"]+@[^\s\p{C}@,;:<>()[\]\\"]+$/u.test(text)

/** The address as SMTP has it: with an international domain (RFC 5890) by its ASCII name. */
export const wireAddress = (address: string) => withDomain(address, domainToASCII)

/** An address with its domain as it is written, in ASCII and in Unicode. */
export const spellingsOf = (address: string): string[] => [
	...new Set([address, wireAddress(address), withDomain(address, domainToUnicode)]),
]

function withDomain(address: string, spell: (domain: string) => string): string {
	const domain = address.slice(address.lastIndexOf('@') + 1)
	const isPlain = /^[\x20-\x7e]*$/.test(domain) && !/(^|\.)xn--/i.test(domain)
	return isPlain ? address : `${address.slice(0, -domain.length)}${spell(domain) || domain}`
}

/** The same for all spellings of an address: no mail server in use tells letters in the local part by their case. */
export function addressKey(address: string): string {
	const at = address.lastIndexOf('@')
	const domain = address.slice(at + 1)
	return `${address.slice(0, at)}@${domainToASCII(domain) || domain}`.toLowerCase()
}

/** The addresses without repetitions, in the spelling and at the place of the first. */
export const distinct = (addresses: readonly string[]): string[] => {
	const keys = addresses.map(addressKey)
	return addresses.filter((_, index) => keys.indexOf(keys[index] as string) === index)
}
