// Takes a person out of texts and JSON. What is put in their place still fits the contract: a name, a phone, an address.

export interface Person {
	/** Found inside of longer texts as well, whatever their case, but only whole: not as a part of another address. */
	readonly emails: readonly string[]
	/** Names and phones: others may have the same, so they are found only in what is the person's, as the whole of a field. */
	readonly words: readonly string[]
	readonly contactIds: readonly string[]
}

/** How much of a record is the person's: all of it, what it says of a name or phone that is theirs, or addresses alone. */
export type Share = 'all' | 'words' | 'addresses'

export const nobody = 'Erased'
export const nowhere = 'erased@erased.invalid'

/** Fields that name a person or a way to reach them. */
const personal = new Set(['name', 'contactName', 'billingContactName', 'email', 'phone'])

/** Ids stay, so that what refers to a record still does. */
const isId = (field: string) => /^id$|Id$/.test(field)

/** What no address begins or ends at: `joann@big.example` and `ann@big.example.com` are not `ann@big.example`. */
const before = String.raw`(?<![\p{L}\p{M}\p{N}_%+-]|[\p{L}\p{M}\p{N}_%+-][.'&])`
const after = String.raw`(?![\p{L}\p{M}\p{N}_%+-]|\.[\p{L}\p{N}])`

/** A text that is nothing but an address, in which more characters are allowed than are likely to be around one in a sentence. */
const isAddress = (text: string) => /^[^\s@<>()[\],;:"\\]+@[\p{L}\p{M}\p{N}·・-]+(\.[\p{L}\p{M}\p{N}·・-]+)+$/u.test(text)

const isSame = (text: string, email: string) => text.toLowerCase() === email.toLowerCase()

function withoutAddresses(text: string, emails: readonly string[]): string {
	if (isAddress(text)) return emails.some((email) => isSame(text, email)) ? nowhere : text
	const escaped = emails.map((email) => email.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
	return escaped.reduce((rest, email) => rest.replace(new RegExp(before + email + after, 'giu'), nowhere), text)
}

export function blankText(text: string, field: string, person: Person, share: Share): string {
	if (isId(field)) return text
	const isTheirs = share === 'all' || (share === 'words' && person.words.includes(text))
	if (isTheirs && personal.has(field)) return field === 'email' ? nowhere : nobody
	return withoutAddresses(text, person.emails)
}

/** `field` is the one that the value is in; a list, and the old and new value in a change, are in the field around them. */
export function blankJson(value: unknown, field: string, person: Person, share: Share): unknown {
	if (typeof value === 'string') return blankText(value, field, person, share)
	if (Array.isArray(value)) return value.map((item) => blankJson(item, field, person, share))
	if (typeof value !== 'object' || value === null) return value
	const inner = share === 'addresses' && isOf(value, person) ? 'words' : share
	const fieldOf = (name: string) => (personal.has(field) && (name === 'from' || name === 'to') ? field : name)
	return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, blankJson(item, fieldOf(name), person, inner)]))
}

/** Whether an object or row has the id of the person's contact, or is about an address of theirs. */
export function isOf(value: object, { emails, contactIds }: Person): boolean {
	return Object.values(value).some(
		(item) => typeof item === 'string' && (contactIds.includes(item) || emails.some((email) => isSame(item, email))),
	)
}
