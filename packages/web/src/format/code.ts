/** JSON with line breaks; any other text as it is. */
export function prettyJson(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), undefined, 2)
	} catch {
		return text
	}
}

/** `350 ms`, `2.1 s`. */
export const showDuration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`)

/** `1 record`, `12 records`. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
