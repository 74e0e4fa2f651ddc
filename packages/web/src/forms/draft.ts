// What was typed and not saved, for the tab's life: it comes back after a reload. Another person or another version has other drafts.

export interface Draft<T> {
	readonly savedAt: number
	readonly values: T
}

const prefix = 'remit draft'
const nameOf = (parts: readonly (string | number)[]) => [prefix, ...parts].join(' ')

export function readDraft<T>(key: readonly (string | number)[]): Draft<T> | undefined {
	try {
		return JSON.parse(sessionStorage.getItem(nameOf(key)) ?? 'null') ?? undefined
	} catch {
		return undefined
	}
}

export function writeDraft<T>(key: readonly (string | number)[], values: T | undefined): void {
	try {
		if (values === undefined) sessionStorage.removeItem(nameOf(key))
		else sessionStorage.setItem(nameOf(key), JSON.stringify({ savedAt: Date.now(), values } satisfies Draft<T>))
	} catch {
		// A browser may forbid it, or it is full: then there is no draft.
	}
}

/** Before another person has this tab. */
export function forgetDrafts(): void {
	for (const name of Object.keys(sessionStorage)) if (name.startsWith(prefix)) sessionStorage.removeItem(name)
}
