import { type ReactNode, useEffect, useRef } from 'react'
import './page-header.css'

interface PageHeaderProps {
	readonly title: string
	/** What stands before the title, such as the way back to the list. */
	readonly above?: ReactNode
	/** Behind the title, such as a badge. */
	readonly beside?: ReactNode
	/** One primary action, on the right. */
	readonly actions?: ReactNode
}

let isFirst = true

/** The h1 of the page. It takes the focus after navigation, so that a screen reader says where the person is. */
export function PageHeader({ title, above, beside, actions }: PageHeaderProps) {
	const heading = useRef<HTMLHeadingElement>(null)
	useEffect(() => {
		document.title = `${title} · Remit`
	}, [title])
	useEffect(() => {
		// What asked for the focus itself, such as the first field of a form, keeps it.
		if (!isFirst && !document.activeElement?.closest('main input, main textarea')) heading.current?.focus({ preventScroll: true })
		isFirst = false
	}, [])
	return (
		<header className="page-header">
			{above && <div className="page-above">{above}</div>}
			<div className="page-title">
				<h1 ref={heading} tabIndex={-1}>
					{title}
				</h1>
				{beside}
				{actions && <div className="page-actions">{actions}</div>}
			</div>
		</header>
	)
}
