import { type KeyboardEvent, useRef, useState } from 'react'

/** Which action has the focus when a menu opens: by mouse or finger none, but the menu itself. */
type First = 'first' | 'last' | undefined

const firstBy: Readonly<Record<string, 'first' | 'last'>> = { ArrowDown: 'first', ArrowUp: 'last' }

/** Whether a menu is open, and what its button and its list need for that. */
export function useMenu() {
	const trigger = useRef<HTMLButtonElement>(null)
	const [opened, setOpened] = useState<{ first: First }>()
	const open = (first: First) => setOpened({ first })
	return {
		open,
		button: {
			ref: trigger,
			'aria-haspopup': 'menu',
			'aria-expanded': opened !== undefined,
			onKeyDown: (event: KeyboardEvent) => {
				const first = firstBy[event.key]
				if (!first) return
				event.preventDefault()
				open(first)
			},
		},
		/** Undefined while it is closed. */
		list: opened && { ...opened, trigger, onClose: () => setOpened(undefined) },
	} as const
}

export type OpenList = NonNullable<ReturnType<typeof useMenu>['list']>
