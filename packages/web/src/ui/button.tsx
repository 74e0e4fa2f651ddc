import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import './button.css'

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'> {
	readonly children?: ReactNode
	/** `primary` once a page at most; `danger` for what cannot be undone. */
	readonly look?: 'primary' | 'plain' | 'quiet' | 'danger'
	readonly icon?: ReactNode
	/** Behind the text, such as the mark of a menu. */
	readonly mark?: ReactNode
	readonly isSmall?: boolean
}

/** While `isPending` it cannot be pressed again, and says that it waits. Without children it needs an `aria-label`. */
export function Button({ children, look = 'plain', icon, mark, isSmall, ...props }: ButtonProps) {
	const size = `${isSmall ? ' small' : ''}${children ? '' : ' icon-only'}`
	return (
		<AriaButton {...props} className={`button ${look}${size}`}>
			{icon}
			{children && <span>{children}</span>}
			{mark}
			{props.isPending && <span className="spinner" aria-hidden="true" />}
		</AriaButton>
	)
}
