// The keyboard map of the application: the help dialog reads it, and so do the frame and the forms, which do what it says.

export interface Shortcut {
	/** As `KeyboardEvent.key`; two with a blank between are pressed one after the other. */
	readonly keys: string
	readonly meaning: string
	/** An address to go to. */
	readonly path?: string
	/** What the frame does, or the page through an element with `data-key` of the same name. */
	readonly does?: 'help' | 'search' | 'palette' | 'new' | 'edit' | 'down' | 'up' | 'choose' | 'save' | 'saveAndSend'
}

export const shortcuts: readonly Shortcut[] = [
	{ keys: '?', meaning: 'Show these keys', does: 'help' },
	{ keys: 'Mod+k', meaning: 'Go anywhere', does: 'palette' },
	{ keys: '/', meaning: 'Search the list', does: 'search' },
	{ keys: 'n', meaning: 'New', does: 'new' },
	{ keys: 'e', meaning: 'Edit', does: 'edit' },
	{ keys: 'j', meaning: 'Next row', does: 'down' },
	{ keys: 'k', meaning: 'Previous row', does: 'up' },
	{ keys: 'x', meaning: 'Choose the row', does: 'choose' },
	{ keys: 'Mod+s', meaning: 'Save', does: 'save' },
	{ keys: 'Mod+Enter', meaning: 'Save and send', does: 'saveAndSend' },
	{ keys: 'g d', meaning: 'Go to the dashboard', path: '/' },
	{ keys: 'g i', meaning: 'Go to invoices', path: '/invoices' },
	{ keys: 'g c', meaning: 'Go to companies', path: '/companies' },
	{ keys: 'g o', meaning: 'Go to deals', path: '/deals' },
	{ keys: 'g t', meaning: 'Go to time', path: '/time' },
	{ keys: 'g s', meaning: 'Go to settings', path: '/settings' },
]

/** A pressed key as the map writes it, whether or not caps lock is on. */
export const keyOf = ({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string =>
	ctrlKey || metaKey ? `Mod+${key.length === 1 && !shiftKey ? key.toLowerCase() : key}` : key
