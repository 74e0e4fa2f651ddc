// Where the next page begins. What a cursor has in it is between this room and itself.
import { ProviderFailed } from './types.ts'

export type Cursor =
	/** What the provider said. */
	| { readonly at: string }
	/** A number of pages, or of records before the page; `seen` tells a provider that answers one page for ever. */
	| { readonly number: number; readonly seen: string }
	/** Changes from `from` on; with `id`, only those at `from`, from that id on. */
	| { readonly from: number; readonly id: string | null }
	/** Changes from `since` on, in Unix seconds, and a page of these. */
	| { readonly since: number | null; readonly page: number }

export const written = (cursor: Cursor): string => JSON.stringify(cursor)

/** Throws ProviderFailed for a cursor of another kind: the object is read in another way now. */
export function read<Kind extends Cursor>(text: string, name: string): Kind {
	try {
		const cursor = JSON.parse(text)
		if (typeof cursor === 'object' && cursor !== null && Object.hasOwn(cursor, name)) return cursor
	} catch {
		// Below.
	}
	throw new ProviderFailed('cursor_expired', 'invalid_answer', 'The place in the list is of another way to read it.')
}
