// Seller and buyer as lines of a letterhead.
import type { Party } from '../../../generated/contract.ts'
import type { Words } from '../../../platform/rendering/words/words.ts'

/** Countries that write the city before the postal code (`Austin, TX 78701`); others write it after (`10179 Berlin`). */
const cityFirst = new Set(
	[
		...['US', 'USA', 'United States', 'United States of America', 'CA', 'Canada', 'AU', 'Australia', 'NZ', 'New Zealand'],
		...['GB', 'UK', 'United Kingdom', 'Great Britain', 'England', 'Scotland', 'Wales', 'Northern Ireland', 'IE', 'Ireland'],
	].map((name) => name.toUpperCase()),
)

export const sellerLines = (seller: Party, words: Words): string[] =>
	written([...addressLines(seller), seller.email, seller.phone, ...numbers(seller, words)])

export const buyerLines = (buyer: Party, words: Words): string[] => written([...addressLines(buyer), ...numbers(buyer, words)])

const numbers = ({ taxId, vatId }: Party, words: Words) => [
	taxId && `${words.taxId} ${taxId}`,
	vatId && `${words.vatId} ${vatId}`,
]

const addressLines = (party: Party) => [
	party.name,
	party.contactName,
	party.addressLine1,
	party.addressLine2,
	cityLine(party),
	party.country,
]

function cityLine({ city, state, postalCode, country }: Party): string {
	if (cityFirst.has(country?.replaceAll('.', '').trim().toUpperCase() ?? ''))
		return joined(', ', city, joined(' ', state, postalCode))
	return joined(', ', joined(' ', postalCode, city), state === city ? null : state)
}

const joined = (separator: string, ...parts: (string | null)[]) => written(parts).join(separator)

/** The texts that are not blank, each once: a sole trader is their own contact. */
const written = (texts: readonly (string | null)[]): string[] =>
	[...new Set(texts.map((text) => text?.trim() ?? ''))].filter(Boolean)
