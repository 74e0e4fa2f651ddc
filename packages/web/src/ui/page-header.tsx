import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import './page-header.css'

export interface PageHeaderProps {
	readonly title: string
	/** What stands before the title, such as the way back to the list. */
	readonly above?: ReactNode
	/** Behind the title, such as a badge. */
	readonly beside?: ReactNode
	/** One primary action, on the right. */
	readonly actions?: ReactNode
}

/** The path of the page that was last shown, and whether its heading had the focus when it went. */
let shown: { readonly path: string; readonly hadFocus: boolean } | undefined

/** The h1 of the page. It takes the focus after navigation, so that a screen reader says where the person is. */
export function PageHeader({ title, above, beside, actions }: PageHeaderProps) {
	const heading = useRef<HTMLHeadingElement>(null)
	useEffect(() => {
		document.title = `${title} · Remit`
	}, [title])
	useEffect(() => {
		const path = location.pathname
		// The same page has another heading once its record is there.
		const isNews = shown && (shown.path !== path || shown.hadFocus)
		// What asked for the focus itself, such as the first field of a form, keeps it.
		if (isNews && !document.activeElement?.closest('main input, main textarea')) heading.current?.focus({ preventScroll: true })
		shown = { path, hadFocus: false }
	}, [])
	useLayoutEffect(
		() => () => {
			if (shown) shown = { ...shown, hadFocus: document.activeElement === heading.current }
		},
		[],
	)
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
