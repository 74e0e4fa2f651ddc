import type { KeyboardEvent } from 'react'
import { keyOf } from './keys.ts'
import { toast } from './toast.ts'

/** What Enter, Tab and the key that saves choose while the text searches. */
export interface Match {
	/** The first choice; undefined where there is none, or where the choices are still those of an earlier text. */
	readonly id: string | undefined
	/** Chooses this one, else the first one of the text, once it has come. Returns whether a choice is made. */
	readonly take: (id?: string) => boolean
}

/** The form that is saved by a key has the choice; where none is made, nothing is saved, and a notice says so. */
export function chooseBeforeSave(event: KeyboardEvent, label: string, match: Match, active?: string): void {
	if (keyOf(event.nativeEvent) !== 'Mod+s' || match.take(active)) return
	event.preventDefault()
	event.stopPropagation()
	toast(`Not saved: ${label} is not chosen yet`)
}
