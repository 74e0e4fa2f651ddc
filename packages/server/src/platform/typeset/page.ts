// Derives the layout of a page from a locale: the language, whose glyphs come first, the direction of its script, and the paper.

/** Regions whose paper is Letter; the others use A4. Source: CLDR, measurementData, paperSize US-Letter. */
const letterRegions = new Set(['BZ', 'CA', 'CL', 'CO', 'CR', 'GT', 'MX', 'NI', 'PA', 'PH', 'PR', 'SV', 'US', 'VE'])

const rightToLeft = new Set(['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa'])

export function pageInputs(locale: string): Record<'language' | 'direction' | 'paper', string> {
	const { language, region = '', script = '' } = new Intl.Locale(locale).maximize()
	return {
		language,
		direction: rightToLeft.has(script) ? 'rtl' : 'ltr',
		paper: letterRegions.has(region) ? 'us-letter' : 'a4',
	}
}
