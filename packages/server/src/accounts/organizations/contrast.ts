// Whether a colour can be read on white (WCAG 2.2, success criterion 1.4.3).
import { fieldError } from '../../platform/base/errors.ts'

const least = 4.5

/** Throws 422 for a colour that is too light. */
export function requireContrast(color: string): void {
	const ratio = contrastOnWhite(color)
	if (ratio >= least) return
	const shown = Math.floor(ratio * 100) / 100
	throw fieldError(
		'low_contrast',
		'/accentColor',
		`${color} has a contrast of ${shown}:1 on white; text needs ${least}:1 at least.`,
	)
}

/** The ratio of the luminance of white to that of the colour, which is `#rrggbb`. */
function contrastOnWhite(color: string): number {
	const [red, green, blue] = [1, 3, 5].map((at) => linear(Number.parseInt(color.slice(at, at + 2), 16) / 255)) as [
		number,
		number,
		number,
	]
	return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}

const linear = (channel: number) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4)
