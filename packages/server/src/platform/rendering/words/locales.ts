// How a document in a language writes its numbers and dates.
import type { Language } from '../../../generated/contract.ts'

/** Regions in which the language is written; the first one is meant where no other is known. */
const regions: Readonly<Record<Language, readonly string[]>> = {
	en: ['GB', 'US', 'CA', 'IE', 'AU', 'NZ', 'ZA', 'IN', 'SG', 'HK', 'MT', 'PH', 'NG', 'KE'],
	de: ['DE', 'AT', 'CH', 'LI', 'LU', 'BE', 'IT'],
	fr: ['FR', 'BE', 'CH', 'LU', 'CA', 'MC'],
	es: ['ES', 'MX', 'AR', 'CO', 'CL', 'PE', 'UY', 'EC', 'BO', 'PY', 'VE', 'CR', 'PA', 'GT', 'HN', 'NI', 'SV', 'DO', 'PR', 'US'],
	it: ['IT', 'CH', 'SM'],
	nl: ['NL', 'BE', 'SR'],
	pt: ['PT', 'BR', 'AO', 'MZ', 'CH', 'LU'],
	pl: ['PL'],
}

/** The organization's choices that a document without its own follows. */
interface Settings {
	readonly language: Language
	readonly locale: string
}

/**
 * The organization's locale when it fits the language, else the language as it is written in the organization's region, else where most
 * write it. An organization whose own language is English keeps any locale: its documents were so before there were languages, and there
 * are no words yet for most locales.
 */
export function localeFor(language: Language, settings: Settings): string {
	// The common case, for which Intl takes 4 µs.
	if (settings.locale.startsWith(`${language}-`)) return settings.locale
	const chosen = new Intl.Locale(settings.locale)
	if (chosen.language === language) return settings.locale
	if (language === 'en' && settings.language === 'en') return settings.locale
	const { region = '' } = chosen.maximize()
	return `${language}-${regions[language].includes(region) ? region : regions[language][0]}`
}
