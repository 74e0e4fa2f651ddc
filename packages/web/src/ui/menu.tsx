import type { ReactNode } from 'react'
import { ButtonContext } from 'react-aria-components/Button'
import { onFirstUse } from './on-first-use.tsx'
import { InMenu } from './places.tsx'
import { useMenu } from './use-menu.ts'

export interface MenuAction {
	readonly id: string
	readonly label: string
	readonly icon?: ReactNode
	/** The key that does the same. */
	readonly note?: string
	readonly isDangerous?: boolean
	readonly isDisabled?: boolean
	readonly onAction: () => void
}

const MenuList = onFirstUse(() => import('./menu-list.tsx'), InMenu)

/** Actions behind a button, which is `children`. The list is there only while it is open. */
export function Menu({ children, label, actions }: { children: ReactNode; label: string; actions: readonly MenuAction[] }) {
	const { open, button, list } = useMenu()
	const press = ({ pointerType }: { pointerType: string }) => open(/keyboard|virtual/.test(pointerType) ? 'first' : undefined)
	return (
		<>
			<ButtonContext value={{ ...button, onPress: press }}>{children}</ButtonContext>
			{list && <MenuList label={label} actions={actions} {...list} />}
		</>
	)
}
