import { Menu, MenuItem } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import type { MenuAction } from './menu.tsx'
import type { OpenList } from './use-menu.ts'
import './popover.css'

interface MenuListProps extends OpenList {
	readonly label: string
	readonly actions: readonly MenuAction[]
}

/** The actions of a menu, while it is open. */
export default function MenuList({ label, actions, trigger, first, onClose }: MenuListProps) {
	return (
		<Popover
			className="popover"
			placement="bottom end"
			trigger="MenuTrigger"
			triggerRef={trigger}
			isOpen
			onOpenChange={onClose}
			aria-label={label}
		>
			<Menu aria-label={label} autoFocus={first ?? true} onClose={onClose} className="options">
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
			</Menu>
		</Popover>
	)
}
