import { useEffect, useRef } from 'react'
import { keyOf, type Shortcut, shortcuts } from '../ui/keys.ts'
import { areKeysOn } from '../ui/single-keys.ts'

interface KeyActions {
	readonly help: () => void
	readonly palette: () => void
	readonly go: (path: string) => void
}

const isTyping = (target: EventTarget | null) =>
	target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Listens for the keys of the map. Single letters do nothing while somebody types, in a dialog, or when switched off. */
export function useKeys(actions: KeyActions): void {
	const latest = useRef(actions)
	latest.current = actions
	useEffect(() => {
		let first = ''
		let timer: ReturnType<typeof setTimeout> | undefined
		const press = (event: KeyboardEvent) => {
			if (event.defaultPrevented || event.altKey || event.isComposing) return
			const isModified = event.ctrlKey || event.metaKey
			const key = keyOf(event)
			if (!isModified && (!areKeysOn() || isTyping(event.target) || document.querySelector('.scrim'))) return
			const found = shortcuts.find(({ keys }) => keys === `${first} ${key}`) ?? shortcuts.find(({ keys }) => keys === key)
			clearTimeout(timer)
			first = shortcuts.some(({ keys }) => keys.startsWith(`${key} `)) ? key : ''
			timer = setTimeout(() => {
				first = ''
			}, 1_000)
			if (found && run(found, latest.current)) event.preventDefault()
		}
		addEventListener('keydown', press)
		return () => removeEventListener('keydown', press)
	}, [])
}

/** Whether something was done. A form has its own keys to save. */
function run({ path, does }: Shortcut, actions: KeyActions): boolean {
	if (path) actions.go(path)
	else if (does === 'help' || does === 'palette') actions[does]()
	else if (does === 'search') return focus(document.querySelector('[data-list-search]'))
	else if (does === 'down' || does === 'up') return moveRow(does === 'down' ? 1 : -1)
	else if (does === 'choose') return chooseRow()
	else if (does === 'save' || does === 'saveAndSend') return false
	else {
		const element = document.querySelector<HTMLElement>(`[data-key="${does}"]`)
		element?.click()
		return element !== null
	}
	return true
}

function focus(element: Element | null): boolean {
	if (element instanceof HTMLElement) element.focus()
	return element !== null
}

function moveRow(step: number): boolean {
	const rows = [...document.querySelectorAll<HTMLElement>('tr[data-row] a')]
	const at = rows.indexOf(document.activeElement as HTMLElement)
	return focus(rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)] ?? null)
}

/** Of the row that has the focus. */
function chooseRow(): boolean {
	const box = document.activeElement?.closest('tr[data-row]')?.querySelector<HTMLElement>('.choose input')
	box?.click()
	return box !== undefined && box !== null
}
