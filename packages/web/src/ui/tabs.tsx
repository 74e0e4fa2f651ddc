import { type ReactNode, useEffect, useRef } from 'react'
import './tabs.css'

/**
 * Views of one list, each with its own address: links, of which one is the current page. A phone scrolls to it. A link whose query is a
 * part of the address counts as current, too, but for `activeOptions={{ exact: true }}`.
 */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
	const links = useRef<HTMLElement>(null)
	useEffect(() => {
		const [bar, current] = [links.current, links.current?.querySelector<HTMLElement>('[aria-current="page"]')]
		if (bar && current) bar.scrollLeft = current.offsetLeft - (bar.clientWidth - current.offsetWidth) / 2
	}, [])
	return (
		<nav ref={links} className="tabs" aria-label={label}>
			{children}
		</nav>
	)
}
