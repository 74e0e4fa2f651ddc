import type { ReactNode } from 'react'
import { Menu as AriaMenu, MenuItem, MenuTrigger } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import './popover.css'

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

/** Actions behind a button, which is `children`. */
export const Menu = ({ children, label, actions }: { children: ReactNode; label: string; actions: readonly MenuAction[] }) => (
	<MenuTrigger>
		{children}
		<Popover className="popover" placement="bottom end">
			<AriaMenu aria-label={label} className="options">
				{actions.map(({ id, label: text, icon, note, isDangerous, isDisabled, onAction }) => (
					<MenuItem
						key={id}
						id={id}
						textValue={text}
						isDisabled={isDisabled}
						onAction={onAction}
						className={isDangerous ? 'option danger' : 'option'}
					>
						{icon}
						{text}
						{note && <span className="option-note">{note}</span>}
					</MenuItem>
				))}
			</AriaMenu>
		</Popover>
	</MenuTrigger>
)
