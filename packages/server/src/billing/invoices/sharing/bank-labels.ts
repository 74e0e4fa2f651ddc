// What the numbers of a bank account are called where its owner lives. Each is a proper name, the same in every language. It imports
// nothing: `pnpm generate` copies it for the web application.

interface Names {
	readonly routing?: string
	/** Of an account number of so many digits. */
	readonly account?: { readonly digits: number; readonly name: string }
}

const namesByCountry: Readonly<Record<string, Names>> = {
	AR: { account: { digits: 22, name: 'CBU' } },
	AT: { routing: 'BLZ' },
	AU: { routing: 'BSB' },
	BR: { routing: 'Agência' },
	CA: { routing: 'Transit number' },
	DE: { routing: 'BLZ' },
	GB: { routing: 'Sort code' },
	HK: { routing: 'Bank code' },
	IE: { routing: 'Sort code' },
	IN: { routing: 'IFSC' },
	MX: { account: { digits: 18, name: 'CLABE' } },
	NG: { routing: 'Sort code' },
	SE: { routing: 'Clearing number' },
	SG: { routing: 'Bank code' },
	US: { routing: 'Routing number' },
	ZA: { routing: 'Branch code' },
}

const otherNames: Readonly<Record<string, string>> = {
	...{ USA: 'US', 'UNITED STATES OF AMERICA': 'US' },
	...{ UK: 'GB', 'GREAT BRITAIN': 'GB', ENGLAND: 'GB', SCOTLAND: 'GB', WALES: 'GB', 'NORTHERN IRELAND': 'GB' },
}

const languages = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt']

const plain = (country: string) => country.replaceAll('.', '').trim().toUpperCase()

let codes: ReadonlyMap<string, string> | undefined

/** The country of an address: its code, or its name in a language that invoices have. */
function codeOf(country: string | null | undefined): string {
	codes ??= new Map([
		...Object.keys(namesByCountry).flatMap((code): [string, string][] => [
			[code, code],
			...languages.map((language): [string, string] => [
				plain(new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code),
				code,
			]),
		]),
		...Object.entries(otherNames),
	])
	return codes.get(plain(country ?? '')) ?? ''
}

/** What a routing number is called in a country; undefined where it has no name of its own. */
export const routingName = (country: string | null | undefined): string | undefined => namesByCountry[codeOf(country)]?.routing

/** What an account number of a country is called; undefined for any that is no more than that. */
export function accountName(country: string | null | undefined, number: string | null | undefined): string | undefined {
	const account = namesByCountry[codeOf(country)]?.account
	return account && number?.replaceAll(/[\s-]/g, '').match(/^\d+$/)?.[0].length === account.digits ? account.name : undefined
}
