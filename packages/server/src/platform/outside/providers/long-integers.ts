// Integers that no double has, such as ids of 64 bits: JSON.parse rounds them, so that two ids become one.

const quote = 0x22
const backslash = 0x5c
const isOfNumber = (code: number) =>
	(code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x45 || code === 0x65

/** JSON in which each integer beyond ±(2^53 − 1) is text, with its digits as they are written. What is no JSON stays none. */
export function keepLongIntegers(json: string): string {
	if (!/\d{16}/.test(json)) return json
	const parts: string[] = []
	let kept = 0
	let isText = false
	for (let at = 0; at < json.length; at++) {
		const code = json.charCodeAt(at)
		if (isText) {
			if (code === backslash) at++
			else if (code === quote) isText = false
		} else if (code === quote) isText = true
		else if (isOfNumber(code)) {
			let end = at + 1
			while (end < json.length && isOfNumber(json.charCodeAt(end))) end++
			const number = json.slice(at, end)
			if (/^-?[1-9]\d{15,}$/.test(number) && !Number.isSafeInteger(Number(number))) {
				parts.push(json.slice(kept, at), `"${number}"`)
				kept = end
			}
			at = end - 1
		}
	}
	return kept === 0 ? json : parts.join('') + json.slice(kept)
}
