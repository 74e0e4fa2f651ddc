// JSON that is already text, so that what the database wrote is not parsed only to be written again.

/** The JSON text of a `T`. */
export class JsonText<T> {
	declare readonly type: T
	readonly text: string

	constructor(text: string) {
		this.text = text
	}
}

/** `{data}` around a record. */
export const dataText = <T>(json: string) => new JsonText<{ data: T }>(`{"data":${json}}`)

/** `{data, meta}` around the records of a page; without `meta`, `{data}`. */
export function listText<T>(rows: readonly string[]): JsonText<{ data: T[] }>
export function listText<T, Meta>(rows: readonly string[], meta: Meta): JsonText<{ data: T[]; meta: Meta }>
export function listText(rows: readonly string[], meta?: unknown): JsonText<unknown> {
	const data = `{"data":[${rows.join(',')}]`
	return new JsonText(meta === undefined ? `${data}}` : `${data},"meta":${JSON.stringify(meta)}}`)
}
