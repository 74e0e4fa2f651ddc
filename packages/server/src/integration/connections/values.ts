// Reading what a provider answered.

/** The value at a path, names with dots between them, all of it for an empty one; undefined where there is none. Reads own properties only. */
export const valueAt = (json: unknown, path: string): unknown =>
	path === ''
		? json
		: path
				.split('.')
				.reduce<unknown>(
					(part, name) => (part instanceof Object && Object.hasOwn(part, name) ? part[name as never] : undefined),
					json,
				)

/** The texts at a path in which `*` is each item of a list. */
export function textsAt(json: unknown, path: string): string[] {
	const [before = '', after] = path.split(/\.\*\.(.*)/s)
	const value = valueAt(json, before)
	if (after !== undefined) return Array.isArray(value) ? value.flatMap((item) => textsAt(item, after)) : []
	return typeof value === 'string' && value.trim() !== '' ? [value] : []
}

/** Text of somebody else as one line of well-formed characters, cut to a length. */
export const oneLine = (text: string, longest: number): string =>
	text
		.toWellFormed()
		.replaceAll(/\p{Cc}/gu, ' ')
		.slice(0, longest)
		.toWellFormed()
