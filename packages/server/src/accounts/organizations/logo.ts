// What may be a logo: an image that is safe to show in a browser, in a mail and on paper, and cheap to render.
import { hash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { imageSize } from 'image-size'
import type { Logo, LogoFormat } from '../../generated/contract.ts'
import { fieldError } from '../../platform/base/errors.ts'
import { requireSafeSvg } from './svg.ts'

/** An image of 4000 × 4000 pixels takes 64 MB while it is read. */
const maxPixels = 4000
const maxBytes = 1024 * 1024
/** Unpacked. Profiles of printing presses have some 2 MB. */
const maxProfileBytes = 4 * 1024 * 1024

const formats: Readonly<Record<string, LogoFormat>> = { png: 'png', jpg: 'jpeg', svg: 'svg' }

export const invalidLogo = (detail: string) => fieldError('invalid_logo', '/data', detail)

/** Describes the bytes; throws 422 when they are no logo. */
export function checkLogo(bytes: Buffer): Logo {
	if (bytes.byteLength > maxBytes) throw invalidLogo(`The logo has ${bytes.byteLength} bytes; it may have 1 MiB.`)
	const { type = '', width, height, orientation } = sizeOf(bytes)
	const format = formats[type]
	if (!format) throw invalidLogo('The logo must be a PNG, a JPEG or an SVG.')
	if (format === 'svg') requireSafeSvg(bytes)
	if (!(width >= 1 && height >= 1 && width <= maxPixels && height <= maxPixels))
		throw invalidLogo(`The logo is ${width} × ${height} pixels large; it may be ${maxPixels} × ${maxPixels}.`)
	if (format === 'png') requireSmallProfile(bytes)
	// Half of the programs that show it would turn it, and half would not.
	if (orientation !== undefined && orientation > 1) throw invalidLogo('The logo is a turned photo (EXIF); save it upright.')
	const size = bytes.byteLength
	return { sha256: hash('sha256', bytes), format, width: Math.round(width), height: Math.round(height), size }
}

/** Each PDF unpacks the colour profile of a PNG (PNG specification, third edition, §11.3.2.3), of which 1 MB may be 1 GB. */
function requireSmallProfile(png: Buffer): void {
	const signature = 8
	let profiles = 0
	for (let at = signature; at + 8 <= png.length; ) {
		const length = png.readUInt32BE(at)
		if (png.toString('latin1', at + 4, at + 8) === 'iCCP') {
			const chunk = png.subarray(at + 8, at + 8 + length)
			// Before it, a name that ends with NUL and the method.
			if (++profiles > 1 || !isSmallUnpacked(chunk.subarray(chunk.indexOf(0) + 2)))
				throw invalidLogo('The colour profile of the logo is broken, or larger than 4 MB unpacked: save it without one.')
		}
		at += 12 + length
	}
}

function isSmallUnpacked(profile: Buffer): boolean {
	try {
		return inflateSync(profile, { maxOutputLength: maxProfileBytes }).length > 0
	} catch {
		return false
	}
}

function sizeOf(bytes: Uint8Array) {
	try {
		return imageSize(bytes)
	} catch {
		throw invalidLogo('The logo must be a PNG, a JPEG or an SVG with a size.')
	}
}
