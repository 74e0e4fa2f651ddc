// How places write amounts and dates. The contract takes any language tag; these are offered.
import { showAmount } from './amount.ts'
import { showDay } from './dates.ts'
import { languageName } from './names.ts'

const tags =
	'cs-CZ da-DK de-AT de-CH de-DE el-GR en-AU en-CA en-GB en-IE en-IN en-NZ en-US en-ZA es-ES es-MX et-EE fi-FI fr-BE fr-CA fr-CH fr-FR ' +
	'hu-HU it-CH it-IT ja-JP lt-LT lv-LV nb-NO nl-BE nl-NL pl-PL pt-BR pt-PT ro-RO sk-SK sl-SI sv-SE tr-TR uk-UA'

/** Such as `German (Germany)`, with the one in use among them. */
export const localeChoices = (used: string): { id: string; label: string }[] =>
	[...new Set([...tags.split(' '), used])]
		.map((id) => ({ id, label: languageName(id) }))
		.toSorted((a, b) => a.label.localeCompare(b.label, 'en'))

/** What it looks like: `1.234,50 €, 31. Dez. 2026`. */
export const localeExample = (locale: string, currency: string): string =>
	`${showAmount(123_450, currency, locale)}, ${showDay('2026-12-31', locale)}`
