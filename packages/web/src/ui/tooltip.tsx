import type { ReactNode } from 'react'
import { Tooltip as AriaTooltip, TooltipTrigger } from 'react-aria-components/Tooltip'
import './tooltip.css'

/** The name of a button that has only an icon, and its key. `children` is the button, which has the name as `aria-label` too. */
export const Tooltip = ({ children, text, keys }: { children: ReactNode; text: string; keys?: string }) => (
	<TooltipTrigger delay={500}>
		{children}
		<AriaTooltip className="tooltip" offset={6}>
			{text}
			{keys && <kbd>{keys}</kbd>}
		</AriaTooltip>
	</TooltipTrigger>
)
